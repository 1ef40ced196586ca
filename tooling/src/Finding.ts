/** A violation of a rule at one place. */
export interface Finding {
  /** Path from the root of the repository. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** Formats a finding as `file:line rule message`, which editors and terminals turn into a link. */
export const formatFinding = (finding: Finding): string =>
  `${finding.file}:${finding.line} ${finding.rule} ${finding.message}`
