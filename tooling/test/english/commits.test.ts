import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { complaintsAboutSubject, readCommits } from "../../src/english/Subjects.ts"
import samples from "./samples.json" with { type: "json" }

const folder = mkdtempSync(join(tmpdir(), "weft-commits-"))
const root = join(folder, "origin")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", [...identity, ...args], { encoding: "utf8" }).trim()
const commit = (subject: string, date = "2022-01-01T00:00:00Z"): string => {
  const env = { ...process.env, GIT_COMMITTER_DATE: date }
  execFileSync("git", [...identity, "-C", root, "commit", "--allow-empty", "--quiet", "-m", subject], { env })
  return git("-C", root, "rev-parse", "HEAD")
}
const lint = (after: string) => {
  const script = fileURLToPath(new URL("../../src/english/commits.ts", import.meta.url))
  return spawnSync(process.execPath, [script, "--root", root, "--after", after], { encoding: "utf8" })
}

describe("The checker of commit subjects", () => {
  it.each(Object.entries(samples.subjects.refused))("refuses %s: %s", (_, subject) => {
    expect(complaintsAboutSubject(subject)).toHaveLength(1)
  })

  it.each(samples.subjects.accepted)("accepts: %s", (subject) => {
    expect(complaintsAboutSubject(subject)).toEqual([])
  })

  it("fails because of a subject of 80 characters after the base, and ignores the history before it", () => {
    git("init", "--quiet", root)
    const base = commit("This subject is older than the rule, and nobody rewrites it")
    commit(samples.subjects.accepted[0] ?? "")
    expect(lint(base)).toMatchObject({ status: 0, stdout: "commits: 1 subjects, 0 findings\n" })
    commit(`streams: ${"x".repeat(71)}`)
    const { status, stdout } = lint(base)
    expect(status).toBe(1)
    expect(stdout).toContain("has 80 characters, more than 72")
  })

  it("reads the commits of a shallow clone that lacks the base by their date", () => {
    const shallow = join(folder, "shallow")
    commit("docs: describe streams", "2020-06-01T00:00:00Z")
    git("clone", "--quiet", "--depth", "1", `file://${root}`, shallow)
    const after = "0".repeat(40)
    expect(readCommits(shallow, { after, date: "2020-01-01T00:00:00Z" })).toHaveLength(1)
    expect(readCommits(shallow, { after, date: "2021-01-01T00:00:00Z" })).toEqual([])
  })
})
