# A worker in an image that holds nothing else:
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
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 8080
# The exec form: with a shell in between, signals would not arrive.
ENTRYPOINT ["/worker"]
