/** Code blocks of documentation pages. */

/** Returns TypeScript blocks by the file name in their first line. */
export const filesIn = (markdown: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => {
      const [, name] = /^\/\/ (\S+\.ts)\n/.exec(block) ?? []
      if (name === undefined) throw new Error(`A block does not name its file:\n${block}`)
      return [name, block]
    })
  )
