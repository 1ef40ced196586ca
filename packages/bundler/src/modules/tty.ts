/** `node:tty`: no stream is a terminal. */
import { refuse } from "./refuse.ts"

export const isatty = (): boolean => false
export const ReadStream = refuse("tty.ReadStream")
export const WriteStream = refuse("tty.WriteStream")
export default { isatty, ReadStream, WriteStream }
