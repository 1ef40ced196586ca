/** Paths of the scripts that run in other processes: next to this file, as source or as built. */
export const runnerEntry = new URL("./runner/main.ts", import.meta.url)
export const guestEntry = new URL("./guest/main.ts", import.meta.url)
/** The program of sessions, a module. */
export const sessionEntry = new URL("./guest/repl/main.ts", import.meta.url)
export const optionalEntries = {
  optional: new URL("./guest/optional/main.ts", import.meta.url),
  encodings: new URL("./guest/encodings/main.ts", import.meta.url)
}
