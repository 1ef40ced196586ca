/** Where a host mounts Weft. */
export { express } from "./mounts/ExpressMount.ts"
export { fetch } from "./mounts/FetchMount.ts"
export { layer } from "./mounts/LayerMount.ts"
export { listen } from "./mounts/ListenMount.ts"
export { node } from "./mounts/NodeMount.ts"
