/** Servers that tests and benchmarks start for themselves, on the loopback, and end again. */
export { type Chromium, chromium, chromiumPackages } from "./Chromium.ts"
export { type NatsServer, nats, natsPackages } from "./Nats.ts"
export { type PostgresOptions, type PostgresServer, postgres } from "./Postgres.ts"
export { radosgw, radosgwPackages } from "./Radosgw.ts"
export { type S3Server, s3Server, s3Url } from "./S3Server.ts"
export { selfSigned } from "./SelfSigned.ts"
export { swift, swiftPackages } from "./Swift.ts"
export { type Passage, type TcpProxy, tcpProxy } from "./TcpProxy.ts"
