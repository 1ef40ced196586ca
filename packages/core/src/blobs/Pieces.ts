/**
 * Pieces of large contents on their way, whose memory is given back at once.
 *
 * The garbage collector looks at memory outside of its heap late: some hundred megabytes may pass through a process
 * before it frees the first of them. So who makes a piece may say that nobody else has it, and who has done its last
 * with it gives its memory back. A piece that nobody gives back is collected like any other.
 */

const disposable = new WeakSet<Uint8Array>()

/** To be called by who made the piece, and will not look at it again. */
export const markDisposable = <A extends Uint8Array>(piece: A): A => {
  // Memory that is shared with others, such as that of small buffers, is not the piece's to give back.
  if (piece.length === piece.buffer.byteLength) disposable.add(piece)
  return piece
}

/**
 * To be called by who passed on the last byte of the piece, when the system does not read its memory any more. The
 * piece is empty then, if it was marked.
 */
export const dispose = (piece: Uint8Array): void => {
  if (disposable.delete(piece) && piece.buffer instanceof ArrayBuffer) piece.buffer.transfer(0)
}
