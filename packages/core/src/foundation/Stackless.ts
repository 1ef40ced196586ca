/** Errors without a stack trace. */

declare global {
  interface ErrorConstructor {
    /** Frames of the stack trace of a new error. Of V8; other engines ignore it. */
    stackTraceLimit: number
  }
}

/**
 * Returns the error of `make` without a stack trace, which takes four fifths of the time to create it. For refusals that a
 * guest can cause at any rate, and of which only the name and the message are read.
 */
export const stackless = <A>(make: () => A): A => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return make()
  } finally {
    Error.stackTraceLimit = limit
  }
}
