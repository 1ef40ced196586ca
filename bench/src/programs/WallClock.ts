/** The time of day with the resolution of `performance.now()`, the same in all processes of the machine. */

let offset = performance.timeOrigin

/** Milliseconds since 1970. */
export const wallNow = (): number => offset + performance.now()

/** The two clocks of a process drift apart: brings them together again, in a millisecond or two. */
export const alignWallClock = (): void => {
  const last = Date.now()
  let current = last
  while (current === last) current = Date.now()
  offset = current - performance.now()
}
