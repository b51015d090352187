"""The words by which people say what they want, what is done, what holds and what comes.

Each cue is a pattern for one sentence in lower case. English first; of German and Spanish the
commonest. They are kept simple, without nested repetition, so that reading takes linear time.
"""
