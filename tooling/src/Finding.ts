/** What a rule found: one place, one sentence. */
export interface Finding {
  /** Path from the repository's root. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** `file:line rule message`, as editors and terminals link it. */
export const formatFinding = (finding: Finding): string =>
  `${finding.file}:${finding.line} ${finding.rule} ${finding.message}`
