package runqueue

// positions is a min-heap of positions in the order. container/heap would allocate for
// each element.
type positions []int

func (p *positions) first() int { return (*p)[0] }

func (p *positions) push(position int) {
	heap := append(*p, position)
	*p = heap
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if heap[parent] <= heap[i] {
			return
		}
		heap[parent], heap[i] = heap[i], heap[parent]
		i = parent
	}
}

// pop removes the first position.
func (p *positions) pop() {
	last := len(*p) - 1
	heap := (*p)[:last]
	if last > 0 {
		heap[0] = (*p)[last]
	}
	*p = heap
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if child >= len(heap) || heap[i] <= heap[child] {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
