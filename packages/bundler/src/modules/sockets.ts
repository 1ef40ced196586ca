/** `cloudflare:sockets`, which clients for Workers import: the sockets of functions have the same interface. */
import { binding } from "./net/Binding.ts"

export const connect = (...args: ReadonlyArray<unknown>): unknown => binding().connect(...args)

export default { connect }
