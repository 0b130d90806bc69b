"""`python -m npu_conformance`: the command npu-conformance."""

import sys

from npu_conformance.cli.main import main

sys.exit(main())
