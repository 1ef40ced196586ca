/** Wall-clock time with the resolution of `performance.now()`, equal in all processes of the machine. */

let offset = performance.timeOrigin

/** Returns epoch milliseconds. */
export const wallNow = (): number => offset + performance.now()

/** Aligns both clocks of the process, which drift apart; takes 1 ms to 2 ms. */
export const alignWallClock = (): void => {
  const last = Date.now()
  let current = last
  while (current === last) current = Date.now()
  offset = current - performance.now()
}
