/** `node:https`: a client over `fetch`. */
import { HttpsAgent } from "./http/Agent.ts"
import { makeClient } from "./http/Client.ts"
import { refuse } from "./refuse.ts"

const server = "export a webhook to receive requests"

export const { get, request } = makeClient("https:")
export { HttpsAgent as Agent }
export const globalAgent = new HttpsAgent({ keepAlive: true })
export const createServer = refuse("https.createServer", server)
export const Server = refuse("https.Server", server)

import * as all from "./https.ts"
export default /* @__PURE__ */ Object.assign({}, all)
