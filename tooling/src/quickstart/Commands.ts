/** The commands of a page, as somebody would type them. */

/** Of the blocks in `sh`, a line each; comments and empty lines are nobody's to type. */
export const commandsIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))

/** Goes on until somebody ends it. */
export const stays = (command: string): boolean => /\bweft (dev|server)\b/.test(command)

/** The folder that it leads to, and what is left to run there. */
export const folderAfter = (command: string): { readonly folder: string; readonly rest: string } | null => {
  const [, folder, rest = ""] = /^cd (\S+)(?: && (.*))?$/.exec(command) ?? []
  return folder === undefined ? null : { folder, rest }
}
