// Package cfn reads the text of a CloudFormation or SAM template into YAML nodes.
//
// Aliases and merges are written out, short forms such as !Ref become the long
// ones, and [Unroll] writes out Fn::ForEach loops. Nodes keep their lines and
// columns. What the functions of a template mean is left to the reader's user.
package cfn
