package dynamodb

type scanParameters struct{ pageParameters }

func (s *Service) scan(p *scanParameters) (pageResponse, error) {
	g, scope, err := p.begin(s, "Scan")
	if err != nil {
		return pageResponse{}, err
	}
	if err := scope.Close(); err != nil {
		return pageResponse{}, err
	}
	return g.read(s), nil
}
