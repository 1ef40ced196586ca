/** `node:stream/promises`. */
import { promises } from "node:stream"

export const { finished, pipeline } = promises
export default promises
