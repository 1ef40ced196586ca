/** Numbers in bytes that a runner is to say, for those that only it knows. */
export const marks = {
  run: Buffer.from([0xee, 0xee, 0xee, 0x01]),
  isolate: Buffer.from([0xee, 0xee, 0xee, 0x02]),
  /** Of somebody else, most likely. */
  otherRun: Buffer.from([0xee, 0xee, 0xee, 0x03]),
  otherIsolate: Buffer.from([0xee, 0xee, 0xee, 0x04])
}
