/**
 * What leaves the isolate at the end of an entry: one string of frames.
 *
 * A frame is `<letter><run>,<a>,<b>,<length>,<length>:<text><text>`. Lengths count UTF-16 units, so nothing that
 * user code puts into a text can forge a frame.
 */
import { limitError } from "./failures.ts"

/** What a frame says. The runner knows the same letters. */
export type Letter =
  /** The run returned: JSON text. */
  | "R"
  /** The run responded: a is the status, b the encoding; headers as JSON text, body. */
  | "H"
  /** The run threw: JSON text of [name, message, stack]. */
  | "E"
  /** The run passed a limit: its name, a message. */
  | "X"
  /** The run was stopped from outside. */
  | "A"
  /** Host call a: op, payload. */
  | "C"
  /** Log line of level a; b is 1 when there is data: message, data. */
  | "L"
  /** Timer a is due in b milliseconds. */
  | "T"
  /** Timer a is no longer wanted. */
  | "U"
  /** The run computed for a milliseconds in this entry. */
  | "W"

let text = ""
let lengthMax = 0

export const limitOutbox = (length: number): void => {
  lengthMax = length
}

/** Appends a frame. What the guest may repeat without end is refused beyond the limit of the outbox. */
export const emit = (letter: Letter, run: number, a: number, b: number, first: string, second: string): void => {
  if ((letter === "C" || letter === "L") && text.length + first.length + second.length > lengthMax) {
    throw limitError("outboxLength", `more than ${lengthMax} characters of host calls and logs without a pause`)
  }
  text += `${letter}${run},${a},${b},${first.length},${second.length}:${first}${second}`
}

/** Takes everything emitted since the last call. */
export const drain = (): string => {
  const taken = text
  text = ""
  return taken
}
