/** Placeholders in a runner's bytes for ids that only the runner knows. */
export const marks = {
  run: Buffer.from([0xee, 0xee, 0xee, 0x01]),
  isolate: Buffer.from([0xee, 0xee, 0xee, 0x02]),
  /** Probably of another build. */
  otherRun: Buffer.from([0xee, 0xee, 0xee, 0x03]),
  otherIsolate: Buffer.from([0xee, 0xee, 0xee, 0x04])
}
