/** Where a host mounts Weft: `import * as Http from "@weft/http"`, then `Http.node`, `Http.express`, … */
export type { HttpOptions } from "./app/HttpOptions.ts"
export type { TlsOptions } from "./mounts/DomainTls.ts"
export { type ExpressMount, type ExpressOptions, express } from "./mounts/ExpressMount.ts"
export { type FetchMount, fetch } from "./mounts/FetchMount.ts"
export { layer } from "./mounts/LayerMount.ts"
export { type Listening, type ListenOptions, listen } from "./mounts/ListenMount.ts"
export { type NodeMount, node } from "./mounts/NodeMount.ts"
export type { CloseOptions, DrainOptions, WeftRuntime } from "./mounts/Serving.ts"
