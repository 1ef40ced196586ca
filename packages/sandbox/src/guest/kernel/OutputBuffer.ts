/**
 * The output of the isolate at the end of an entry: one string of frames.
 *
 * A frame is `<letter><run>,<a>,<b>,<length>,<length>:<text><text>`. Lengths count UTF-16 units, so no text of user code
 * can forge a frame.
 */
import { limitError } from "./failures.ts"

/** Kinds of frames. The runner uses the same letters. */
export type Letter =
  /** The run returned: JSON text. */
  | "R"
  /** The run responded: a is the status, b the encoding; headers as JSON text, body. */
  | "H"
  /** The run threw; a is 1 if it must not be retried: JSON text of [name, message, stack], delay in ms or nothing. */
  | "E"
  /** The run exceeded a limit: its name, a message. */
  | "X"
  /** The run was stopped from outside. */
  | "A"
  /** Host call a: op, payload. */
  | "C"
  /** Computation a of `crypto.subtle`: request, bytes. */
  | "K"
  /** Log line of level a; b is 1 when there is data: message, data. */
  | "L"
  /** Timer a is due in b milliseconds. */
  | "T"
  /** Timer a is cancelled. */
  | "U"
  /** The run computed for a milliseconds in this entry. */
  | "W"

let text = ""
let lengthMax = 0

export const limitOutput = (length: number): void => {
  lengthMax = length
}

/** Appends a frame. Throws for host calls and logs beyond the maximum length: a guest can repeat them without limit. */
export const emit = (letter: Letter, run: number, a: number, b: number, first: string, second: string): void => {
  if ((letter === "C" || letter === "L") && text.length + first.length + second.length > lengthMax) {
    throw limitError(
      "outboxLength",
      `more than ${lengthMax} characters of host calls and logs without a wait for a timer or a host call`
    )
  }
  text += `${letter}${run},${a},${b},${first.length},${second.length}:${first}${second}`
}

/** Removes and returns all frames since the last call. */
export const drain = (): string => {
  const taken = text
  text = ""
  return taken
}
