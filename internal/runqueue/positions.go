package runqueue

import "container/heap"

// positions is a set of places in the order, of which the first comes first.
type positions struct{ heap []int }

func (p *positions) reserve(n int) { p.heap = make([]int, 0, n) }

// Len is the number of places.
func (p *positions) Len() int { return len(p.heap) }

// Less, Swap, Push and Pop implement [heap.Interface].
func (p *positions) Less(i, j int) bool { return p.heap[i] < p.heap[j] }

// Swap exchanges two places of the heap.
func (p *positions) Swap(i, j int) { p.heap[i], p.heap[j] = p.heap[j], p.heap[i] }

// Push appends to the heap.
func (p *positions) Push(x any) { p.heap = append(p.heap, x.(int)) }

// Pop takes the last of the heap.
func (p *positions) Pop() any {
	last := p.heap[len(p.heap)-1]
	p.heap = p.heap[:len(p.heap)-1]
	return last
}

func (p *positions) push(position int) { heap.Push(p, position) }

func (p *positions) first() int { return p.heap[0] }

func (p *positions) pop() int { return heap.Pop(p).(int) }
