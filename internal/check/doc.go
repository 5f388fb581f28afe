// Package check finds what loses, doubles or buries jobs in a stack of Lambda
// functions fed by SQS, before it is deployed: in a SAM template, or in a plain
// CloudFormation template such as the output of cdk synth, in YAML or JSON.
//
// [Check] reads the template into a model, in which resources are linked by what
// their properties come to, and asks each of the [Rules]. Parameters have the
// given values, or else their defaults. What only a deployment knows stays
// unknown, and a rule that would need it says nothing. What is absent only with
// these parameters counts as there.
//
// What cfn-lint and cdk-nag find well is left to them.
package check
