/** Text that every database keeps as it is: valid Unicode without U+0000, which PostgreSQL has no place for. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000")
