/** Extracts the commands of a page. */

/** Returns the lines of all `sh` blocks, without comments and empty lines. */
export const commandsIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))

/** True if the command runs until it is interrupted. */
export const isLongRunning = (command: string): boolean => /\bweft (dev|server)\b/.test(command)

/** Parses `cd FOLDER && REST`. Returns null for other commands. */
export const parseCd = (command: string): { readonly folder: string; readonly rest: string } | null => {
  const [, folder, rest = ""] = /^cd (\S+)(?: && (.*))?$/.exec(command) ?? []
  return folder === undefined ? null : { folder, rest }
}
