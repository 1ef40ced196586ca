/** Nothing in the repository knows the machine it was made on. */
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

const absolutePath = /(?:^|[^A-Za-z0-9_.\-/])\/(?:work|farm|root|home|Users)\//
const registryHost = /\bregistry\.(?:npmjs\.org|yarnpkg\.com|npmmirror\.com)\b/
const resolvedByHost = /"resolved":\s*"(?:[a-z+]+:)?\/\//

export const machineTraces = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.texts].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, index) => {
      const message = traceIn(line)
      return message === undefined ? [] : [{ file, line: index + 1, rule: "machine-trace", message }]
    })
  )

export const traceIn = (line: string): string | undefined => {
  if (absolutePath.test(line)) return "an absolute path of somebody's machine"
  if (registryHost.test(line)) return "the host of a registry"
  return resolvedByHost.test(line) ? "the lock file names the host a package came from" : undefined
}
