// Command code stands for a function's folder.
package main

func main() {}
