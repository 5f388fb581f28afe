// Command code is the folder of a function in tests.
package main

func main() {}
