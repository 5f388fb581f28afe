// Package clients tests docs/emulators.md: its programs in other languages run against the
// emulators, with the settings that the page gives. That for boto3 runs where
// "make powertools-venv" has installed it. "make clients" installs and runs all, also those
// for the AWS CLI, JavaScript and Java; it needs npm and Maven.
package clients
