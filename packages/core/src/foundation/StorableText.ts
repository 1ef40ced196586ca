/** True if every database stores the text unchanged: valid Unicode without U+0000, which PostgreSQL rejects. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000")
