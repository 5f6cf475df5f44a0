"""Do rendered pages look as the recorded ones did, whatever holds their appearance?"""
