"""Translates SAM templates as SAM does for CloudFormation, without an account.

    translate.py FOLDER TEMPLATE...

For each template NAME.yaml, writes the translation to NAME.json in the folder,
or SAM's error to NAME.error.
"""

import json
import pathlib
import sys

from samcli.lib.translate.sam_template_validator import SamTemplateValidator
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.managed_policy_translator import ManagedPolicyLoader

REGION = "us-east-1"


def translate(text):
    # SAM would ask AWS for policies that it does not know by name; there are none.
    validator = SamTemplateValidator(yaml_parse(text), ManagedPolicyLoader(None), region=REGION)
    return yaml_parse(validator.get_translated_template_if_valid())


def main(folder, *templates):
    for path in map(pathlib.Path, templates):
        target = pathlib.Path(folder) / path.stem
        try:
            translated = translate(path.read_text(encoding="utf-8"))
        except Exception as error:  # any error is a result
            target.with_suffix(".error").write_text(str(error), encoding="utf-8")
        else:
            target.with_suffix(".json").write_text(json.dumps(translated, indent=1), encoding="utf-8")


main(*sys.argv[1:])
