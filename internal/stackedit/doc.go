// Package stackedit adds alarms, a dashboard and the rollback of deployments to
// the template of a stack. It changes the text and nothing else in it: additions
// are inserted at the lines and columns of the template's nodes, so every byte that
// was there stays. What cannot be inserted safely is refused.
package stackedit
