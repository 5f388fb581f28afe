# An image that contains only a worker and CA certificates:
#   docker build --build-arg FUNCTION=charge-worker -t charge-worker .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG FUNCTION=charge-worker
ARG TARGETOS=linux
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w" -o /worker ./functions/$FUNCTION

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /worker /worker
# A numeric user, so that Kubernetes can check that it is not root.
USER 65532:65532
EXPOSE 8080
# The exec form: a shell would not forward signals to the worker.
ENTRYPOINT ["/worker"]
