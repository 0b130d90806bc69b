"""x"""
from npu_conformance.harness.run.cases import CaseGroup
cases = CaseGroup("mlts.npu_apps", interface="manager")
