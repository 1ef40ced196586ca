/** The global `Buffer`. */
export { Buffer } from "../buffer.ts"
