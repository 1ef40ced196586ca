/** The rules for subjects of commits, and the commits that they hold for. */
import { execFileSync } from "node:child_process"
import { findWords } from "./Words.ts"

/** Maximum characters of a subject. */
const subjectLengthMax = 72

export interface Commit {
  readonly id: string
  readonly subject: string
}

const form = /^[\w.@][\w.@/-]*(?:, ?[\w.@/-]+)*: (\S+)/
const revert = /^Revert "/

/** First words that are no imperatives: "adds", "added", "adding". The second pattern names imperatives that look alike. */
const inflected = /^(?:[a-z]+(?:[^su]s|ed|ing))$/
const imperative = /^(?:alias|bias|canvas|embed|exceed|feed|need|proceed|seed|shed|speed|bring|ring|string|wing)$/

/** Everything that is wrong with a subject. */
export const complaintsAboutSubject = (subject: string): ReadonlyArray<string> => {
  if (revert.test(subject)) return []
  const complaints: Array<string> = []
  const first = form.exec(subject)?.[1]
  if (subject.length > subjectLengthMax) {
    complaints.push(`has ${subject.length} characters, more than ${subjectLengthMax} - say: the rest in the body`)
  }
  if (first === undefined) complaints.push('is not of the form "area: imperative change"')
  else if (/^[A-Z][a-z]+$/.test(first)) complaints.push(`begins its change with a capital: "${first}"`)
  else if (inflected.test(first) && !imperative.test(first)) complaints.push(`"${first}" is no imperative`)
  return [...complaints, ...findWords(subject).map(({ found, say }) => `"${found}" - say: ${say}`)]
}

/** The first commit that the rules do not hold for, and when it was made. */
export interface Base {
  readonly after: string
  readonly date: string
}

/** Commits since the base, without merges. A shallow clone that lacks the base is read by date. */
export const readCommits = (root: string, { after, date }: Base): ReadonlyArray<Commit> => {
  const range = hasCommit(root, after) ? [`${after}..HEAD`] : [`--since=${date}`, "HEAD"]
  const log = git(root, ["log", "--no-merges", "--format=%h %s", ...range])
  return log.split("\n").flatMap((line) => {
    const at = line.indexOf(" ")
    return at === -1 ? [] : [{ id: line.slice(0, at), subject: line.slice(at + 1) }]
  })
}

const hasCommit = (root: string, id: string): boolean => {
  try {
    git(root, ["merge-base", "--is-ancestor", id, "HEAD"])
    return true
  } catch {
    return false
  }
}

const git = (root: string, args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26, stdio: ["ignore", "pipe", "ignore"] })
