package history

// FeedSQL is the query of Changes.
const FeedSQL = feedSQL
