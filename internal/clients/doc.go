// Package clients tests docs/emulators.md: its programs in other languages run against the
// emulators, with the settings that the page gives. A test runs where its client is
// installed: boto3 with "make powertools-venv", the AWS CLI with "make runbook-venv", and
// the SDKs for JavaScript and Java with "make clients", which needs npm and Maven.
package clients
