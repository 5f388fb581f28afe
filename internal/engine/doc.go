// Package engine is how a command reaches something that answers as AWS does
// on a machine of the user: the local stack, or another program in its place.
package engine
