// Package metricmath parses and evaluates CloudWatch metric math, as the
// CloudWatch user guide describes it ("Using metric math").
//
// It has the operators and the functions that alarms and graphs commonly need.
// Every other function of CloudWatch is refused by name with an
// [*UnsupportedError]. The caller provides the series of the metrics and decides
// which periods an evaluation covers.
package metricmath
