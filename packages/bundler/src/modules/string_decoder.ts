/** `node:string_decoder`, by the package of the same name. */
import { StringDecoder } from "string_decoder/lib/string_decoder.js"

export { StringDecoder }
export default { StringDecoder }
