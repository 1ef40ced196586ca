/** What pages of the documentation show. */

/** Blocks of TypeScript, by the file that their first line names. */
export const filesIn = (markdown: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => {
      const [, name] = /^\/\/ (\S+\.ts)\n/.exec(block) ?? []
      if (name === undefined) throw new Error(`A block does not say which file it is:\n${block}`)
      return [name, block]
    })
  )
