"""From a meeting's video to subtitles of what was said in it: those beside the video, or a recogniser's."""
