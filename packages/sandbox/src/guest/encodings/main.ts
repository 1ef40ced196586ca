/**
 * The encodings of the Encoding standard other than UTF-8, UTF-16 and windows-1252, for `TextDecoder`.
 *
 * An isolate runs this script only if its build may name such an encoding; see `protocol/OptionalNames.ts`.
 */
import { decoderOf } from "./decoders.ts"
import { findEncoding } from "./labels.ts"

/** Makes the encodings known to `TextDecoder`. */
export const install = (): void => platform.encodings().addEncodings({ find: findEncoding, decoder: decoderOf })
